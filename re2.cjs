'use strict';

// A CommonJS module, for only `require` loads both late and at once, in bundles too.
exports.loadRe2 = () => require('re2js');
