import type {
  V1Container,
  V1HTTPGetAction,
  V1Lifecycle,
  V1PodSpec,
  V1Probe,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { imageTag } from './image-tag.js';
import { defaultVolume } from './volume.js';

type PodSpec = Wire<V1PodSpec>;
type Container = Wire<V1Container>;

/** Fills in the defaults of a pod's spec, or of a pod template's, in place. */
export function defaultPodSpec(spec: PodSpec): void {
  mirrorServiceAccount(spec);
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= 'default-scheduler';
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of allContainers(spec)) {
    defaultContainer(container);
    if (spec.hostNetwork === true) defaultHostPorts(container);
  }
}

/**
 * Sets `serviceAccountName` and its old name `serviceAccount` to the same value. Both are always
 * present.
 */
function mirrorServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Returns the init, regular and ephemeral containers of a pod. */
export function allContainers(spec: PodSpec): readonly Container[] {
  const { initContainers, ephemeralContainers } = spec;
  // A decoded spec may have null containers, Go's zero value.
  const containers = (spec.containers as Container[] | null) ?? [];
  return [
    ...(initContainers ?? []),
    ...containers,
    ...((ephemeralContainers ?? []) as Container[]),
  ];
}

/** Fills in the defaults that only pods get, not templates: requests from limits, service links. */
export function defaultPodOnly(spec: PodSpec): void {
  const { initContainers = [] } = spec;
  const containers = (spec.containers as Container[] | null) ?? [];
  for (const { resources } of [...containers, ...initContainers]) {
    if (resources?.limits === undefined) continue;
    resources.requests = { ...resources.limits, ...resources.requests };
  }
  spec.enableServiceLinks ??= true;
  // Older servers accepted negative values, and kubelets use 1 for them.
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ??=
    imageTag(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  for (const port of container.ports ?? []) port.protocol ??= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ??= 'v1';
    if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false;
  }
  for (const probe of [container.livenessProbe, container.readinessProbe, container.startupProbe]) {
    if (probe !== undefined) defaultProbe(probe);
  }
  if (container.lifecycle !== undefined) defaultLifecycle(container.lifecycle);
}

function defaultHostPorts(container: Container): void {
  for (const port of container.ports ?? []) port.hostPort ??= port.containerPort;
}

function defaultProbe(probe: Wire<V1Probe>): void {
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
  if (probe.httpGet !== undefined) defaultHttpGet(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
}

function defaultLifecycle({ postStart, preStop }: Wire<V1Lifecycle>): void {
  for (const handler of [postStart, preStop]) {
    if (handler?.httpGet !== undefined) defaultHttpGet(handler.httpGet);
  }
}

function defaultHttpGet(action: Wire<V1HTTPGetAction>): void {
  action.path ??= '/';
  action.scheme ??= 'HTTP';
}
