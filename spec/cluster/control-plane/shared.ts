import type { ControlPlane } from './control-plane.js';
import { startControlPlane } from './start.js';

let shared: Promise<ControlPlane> | undefined;

/** Returns the control plane of this mocha process; starts it on the first call. */
export function sharedControlPlane(): Promise<ControlPlane> {
  return (shared ??= startControlPlane());
}

/** Stops the control plane of {@link sharedControlPlane}, if started. */
export async function stopSharedControlPlane(): Promise<void> {
  const started = shared;
  shared = undefined;
  await (await started)?.stop();
}
