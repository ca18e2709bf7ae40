import type { RootHookObject } from 'mocha';
import { sharedControlPlane, stopSharedControlPlane } from './shared.js';

/** Allows for a cold build of the control plane: up to six minutes, longer on a loaded machine. */
const coldStartTimeoutMs = 15 * 60_000;

/** Starts the control plane before the first cluster spec and stops it after the last one. */
export const mochaHooks: RootHookObject = {
  async beforeAll(this: Mocha.Context) {
    this.timeout(coldStartTimeoutMs);
    await sharedControlPlane();
  },
  async afterAll() {
    await stopSharedControlPlane();
  },
};
