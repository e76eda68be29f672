// Package population has who acts in a world and when: accounts, the personas of fixtures.Personas with fields for those that
// actions name, the rhythm of activity over days and weeks, and the random numbers, keyed by what they are for.
//
// To add a persona, add a row to fixtures.Personas. It is funded on every chain and listed by /sim/world and the manual. Only a
// persona that actions name needs a field of Personas.
package population
