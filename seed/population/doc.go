// Package population decides who acts in a world and when: accounts, the personas of fixtures.Personas with fields for those that actions
// name, the rhythm of activity over days and weeks, and random numbers keyed by their purpose.
//
// To add a persona, add a row to fixtures.Personas. That funds it on every chain and lists it in /sim/world and the manual. Only a persona
// that actions name needs a field of Personas.
package population
