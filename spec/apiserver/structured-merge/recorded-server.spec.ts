import { expect } from 'chai';
import {
  ApplyConflictError,
  fieldManagerApply,
  fieldManagerUpdate,
  keepManagedFieldsTimes,
} from '../../../lib/apiserver/structured-merge/index.js';
import type { ApplyOptions } from '../../../lib/apiserver/structured-merge/index.js';
import type { ObjectMeta, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { recordings, stepTime } from './scenarios/recording.js';
import type { RecordedStep, Recording } from './scenarios/recording.js';
import { expectSameObject } from './scenarios/same-object.js';
import { resetsOf, typeOf } from './scenarios/scenario-types.js';

/** One step to replay on the objects of the real server. */
interface Replay {
  readonly recording: Recording;
  readonly step: RecordedStep;
  readonly index: number;
  readonly name: string;
  readonly live: UnstructuredObject | undefined;
}

for (const table of ['ownership', 'structures', 'custom']) {
  describe(`the field manager returns the managedFields that were recorded on a real server: ${table}`, () => {
    for (const [at, recording] of recordings(table).entries()) {
      it(recording.title, () => replayAll(recording, `${table}-${at}`));
    }
  });
}

function replayAll(recording: Recording, name: string): void {
  let live: UnstructuredObject | undefined;
  for (const [index, step] of recording.steps.entries()) {
    live = step.before ?? live;
    // A Scale is another object, covered by `scale.spec.ts`.
    if (step.subresource !== 'scale') replay({ recording, step, index, name, live });
    if (step.after !== undefined && step.after !== 'same') live = step.after;
  }
}

function replay(given: Replay): void {
  const { step, live, index } = given;
  const where = `step ${index}, ${step.verb} by ${step.manager}`;
  if (step.error !== undefined) {
    // Other errors come from defaulting and validation, which run after the field manager.
    if ([400, 409, 500].includes(step.error.code)) expectError(given, where);
    return;
  }
  const after = step.after === 'same' ? live : step.after;
  const got = step.verb === 'apply' ? stored(applyStep(given), given) : updateStep(given, after!);
  expect(managersOf(got), where).to.deep.equal(managersOf(after));
  if (step.verb !== 'apply') return;
  expectSameObject(got, after!, { where, live, subresource: step.subresource });
}

// Simulates the relevant part of the write path after an apply.
function stored(applied: UnstructuredObject, { recording, live }: Replay): UnstructuredObject {
  const decoded = typeOf(recording.on).decode(applied);
  if (live === undefined) return decoded;
  const { creationTimestamp, uid } = live.metadata;
  const metadata = { ...decoded.metadata, creationTimestamp: creationTimestamp!, uid: uid! };
  return keepManagedFieldsTimes(live, { ...decoded, metadata });
}

function optionsOf({ recording, step, index }: Replay): ApplyOptions {
  const { on } = recording;
  return {
    ...typeOf(on),
    apiVersion: on.apiVersion,
    manager: step.manager,
    force: step.force,
    subresource: step.subresource,
    resetFields: resetsOf(on, step.subresource),
    now: stepTime(index),
  };
}

function applyStep(given: Replay): UnstructuredObject {
  const { apiVersion, kind } = given.recording.on;
  const { metadata, ...rest } = given.step.body as { metadata?: ObjectMeta };
  const own = { name: given.name, namespace: 'structured-merge' };
  const body = { apiVersion, kind, metadata: { ...metadata, ...own }, ...rest };
  return fieldManagerApply(given.live, body, optionsOf(given));
}

// The server stores an update as sent, with defaults; only `managedFields` are checked.
function updateStep(given: Replay, after: UnstructuredObject): UnstructuredObject {
  const metadata: ObjectMeta = { ...after.metadata };
  delete metadata.managedFields;
  const next = { ...withoutAllocated(after, given.live), metadata };
  Object.assign(metadata, sentManagers(given));
  return fieldManagerUpdate(given.live, next, optionsOf(given));
}

// Removes addresses and ports, which are allocated when a Service is stored.
function withoutAllocated(
  after: UnstructuredObject,
  live: UnstructuredObject | undefined,
): UnstructuredObject {
  if (after.kind !== 'Service') return after;
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy, ...spec } = after['spec'] as {
    [field: string]: unknown;
    ports: { nodePort?: number }[];
  };
  const allocated = { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy };
  const ports = spec.ports.map((port) => ({ ...port, nodePort: undefined }));
  return { ...after, spec: { ...spec, ...(live === undefined ? {} : allocated), ports } };
}

function sentManagers({ step, live }: Replay): Pick<ObjectMeta, 'managedFields'> | undefined {
  if (step.verb !== 'json') return undefined;
  const sent = structuredClone(live?.metadata.managedFields ?? []);
  for (const { path, value } of step.body as { path: string; value: unknown }[]) {
    const [entry, field] = path.split('/').slice(3);
    if (path === '/metadata/managedFields') {
      return value === undefined ? undefined : { managedFields: value as typeof sent };
    }
    if (entry !== undefined && field !== undefined) {
      Object.assign(sent[Number(entry)]!, { [field]: value });
    }
  }
  return { managedFields: sent };
}

function expectError(given: Replay, where: string): void {
  const { step } = given;
  try {
    applyStep(given);
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    // The real server returns members of a map in random order, too.
    expect(sortedLines(error.message), where).to.deep.equal(sortedLines(step.error!.message));
    const causes = error instanceof ApplyConflictError ? error.causes : [];
    // The real server iterates over managers in random order.
    expect(causes, where).to.have.deep.members([...(step.error?.causes ?? [])]);
    return;
  }
  expect.fail(`${where}: no error, the real server says ${step.error?.message ?? ''}`);
}

function sortedLines(text: string): string[] {
  return text.split('\n').toSorted();
}

function managersOf(object: UnstructuredObject | undefined): unknown[] {
  const entries = object?.metadata.managedFields ?? [];
  // The keys must have the order in which Go writes them.
  return entries
    .filter(({ manager }) => manager !== 'kube-controller-manager')
    .map(({ fieldsV1, ...entry }) => ({ ...entry, fieldsV1: JSON.stringify(fieldsV1) }));
}
