import { expect } from 'chai';
import { withEmbeddedPrograms } from './controller-runtime/servers.js';
import { isPassed, runSuite } from './controller-runtime/suites.js';
import type { Suite } from './controller-runtime/suites.js';

/** The suites that take seconds. `controller-runtime/main.ts` runs all, also on the real server. */
const quickSuites: readonly Suite[] = [
  ...(['client', 'client/apiutil', 'controller/controllerutil', 'internal/recorder'] as const),
  'webhook',
];

describe("controller-runtime's own tests, run against the embedded server", function () {
  // The first run compiles client-go.
  this.timeout(900_000);

  for (const suite of quickSuites) {
    it(`pass in pkg/${suite}`, async () => {
      const results = await withEmbeddedPrograms((assets) => runSuite(suite, assets));
      expect([...results].filter(([, result]) => !isPassed(result))).to.deep.equal([]);
    });
  }
});
