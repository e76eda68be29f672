// Package schema defines values without HTTP: the kinds of parameters and how to read them ([Kind], [Rule]), the JSON schema of Go types
// ([Schemas]), and whether a JSON value fits one ([Schemas.Check]). The texts of a 400 and the OpenAPI document come from the same
// declarations.
//
// The two dialects render some values differently, such as a price or the status of an NFT's metadata; [Dialect] holds those.
//
// The schema generator and the validator are our own, about 350 lines. The libraries that could replace them (swaggest/jsonschema-go,
// santhosh-tekuri/jsonschema) word their own errors, while clients of this server get one form for parameters and bodies ("pageSize 0 is
// not allowed: expected an integer from 1 to 100"), and the document keeps the names, the order of members and the two dialects of the
// published one.
package schema
