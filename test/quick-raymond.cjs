// Starts bin/raymond.js with code that the suite keeps for all tests: each of them has an own folder of the
// user, in which there is none.
const { join } = require('node:path');
const { keepCompiled } = require('../bin/keep-compiled.js');

keepCompiled(join(__dirname, 'artefacts', 'compiled'));
require('../bin/raymond.js');
