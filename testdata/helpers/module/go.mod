module example.test/module

go 1.26

require snowglobe v0.0.0

replace snowglobe => ../../..
