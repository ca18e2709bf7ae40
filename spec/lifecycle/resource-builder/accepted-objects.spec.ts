import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { acceptedObjectsSuite } from './suite/accepted-objects-suite.js';

describe('objects of a ResourceBuilder on the embedded server', () => {
  acceptedObjectsSuite(embeddedTarget);
});
