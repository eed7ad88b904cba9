# Writes OUTPUT, a C++ source that holds the bytes of INPUT as
# `const unsigned char SYMBOL[]` and `const unsigned long SYMBOL_size`.
cmake_minimum_required(VERSION 3.25)
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT}
  "extern const unsigned char ${SYMBOL}[];\n"
  "extern const unsigned long ${SYMBOL}_size;\n"
  "const unsigned char ${SYMBOL}[] = {\n${bytes}};\n"
  "const unsigned long ${SYMBOL}_size = sizeof(${SYMBOL});\n")
