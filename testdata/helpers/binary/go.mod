module example.test/binary

go 1.24
