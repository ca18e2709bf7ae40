import { readFile } from 'node:fs/promises';
import { impersonationSuite } from '../client/impersonation-suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

describe('impersonation on a real API server', () => {
  impersonationSuite(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    return readFile(kubeConfigPath, 'utf8');
  });
});
