module snowglobe/testdata/server

go 1.26
