import { embeddedTarget } from '../../builder/suite/embedded-target.js';
import { acceptedObjectsSuite } from './suite/accepted-objects-suite.js';

describe('Objects of a ResourceBuilder on the embedded server', () => {
  acceptedObjectsSuite(embeddedTarget);
});
