import type { V1PodSpec, V1StatefulSet } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { allContainers } from '../defaulting/pod-spec.js';

/** Drops, in place, the fields of features that are off by default from a pod's spec. */
export function dropDisabledPodFields(spec: Wire<V1PodSpec> | undefined): void {
  if (spec === undefined) return;
  for (const container of allContainers(spec)) {
    const { lifecycle } = container;
    if (lifecycle?.stopSignal === undefined) continue;
    delete lifecycle.stopSignal;
    if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
  }
}

/** Drops, in place, the fields of features that are off by default from a StatefulSet. */
export function dropDisabledSetFields({ spec }: Wire<V1StatefulSet>): void {
  delete spec?.updateStrategy?.rollingUpdate?.maxUnavailable;
  dropDisabledPodFields(spec?.template.spec);
}
