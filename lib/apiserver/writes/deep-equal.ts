export { deepEqual } from '../../object/deep-equal.js';
