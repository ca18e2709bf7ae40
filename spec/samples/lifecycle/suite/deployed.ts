import type { LifecycleStatus } from '../../../../lib/lifecycle/index.js';

/** Reports whether `version` is deployed and healthy. */
export function isDeployed(status: LifecycleStatus | undefined, version: string): boolean {
  const { phase, observedVersion } = status ?? {};
  return phase === 'Deployed' && observedVersion === version && conditionsOf(status) === 'T/F/F';
}

/** Formats Available, Progressing and Degraded as `T/F/F`. */
export function conditionsOf(status: LifecycleStatus | undefined): string {
  return ['Available', 'Progressing', 'Degraded']
    .map((type) => status?.conditions?.find((one) => one.type === type)?.status.slice(0, 1) ?? '-')
    .join('/');
}
