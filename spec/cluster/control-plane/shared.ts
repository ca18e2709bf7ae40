import type { ControlPlane } from './control-plane.js';
import { startControlPlane } from './start.js';

let shared: Promise<ControlPlane> | undefined;

/** Returns the control plane of this mocha process; starts it at the first call. */
export function sharedControlPlane(): Promise<ControlPlane> {
  return (shared ??= startControlPlane());
}

/** Stops what {@link sharedControlPlane} started, if anything. */
export async function stopSharedControlPlane(): Promise<void> {
  const started = shared;
  shared = undefined;
  await (await started)?.stop();
}
