import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { apply, get, patch, post, put, remove } from '../scenario.js';
import type { Request } from '../scenario.js';
import { members, metadata, of, small } from './arbitraries.js';
import type { Body } from './arbitraries.js';
import {
  operationsOf,
  withChanges,
  withDirectives,
  withFewFields,
  withoutEmpty,
} from './changes.js';
import type { RandomKind, RandomVersion } from './random-kind.js';

/** Body of an update: the object that the client read last, with a merge patch. */
export interface Edit {
  readonly edit: Body;
}

/** Requests that belong together, such as a read and an update of what was read. */
type Write = readonly Request[];

/** An arbitrary write with its weight. */
type Weighted = readonly [weight: number, write: Arbitrary<Write | Request>];

/** Returns sequences: most often a create, up to `longest` writes to the object, and reads. */
export const sequenceOf = (kind: RandomKind, longest: number): Arbitrary<Request[]> => {
  const versions = kind.versions.map((version) => [1, writeOf(kind, version)] as const);
  const writes = fc.array(anyOf(versions), { minLength: 1, maxLength: longest, size: 'max' });
  const creates = anyOf(kind.versions.map((version) => [1, createOf(kind, version)]));
  const reads = kind.versions.map((version) => get(placesOf(kind, version).one));
  return fc
    .tuple(fc.option(creates, { nil: [] }), writes)
    .map(([create, rest]) => [...create, ...rest.flat(), ...reads])
    .map((requests) =>
      kind.withoutEmpty === true
        ? requests.map((request) => ({ ...request, body: withoutEmpty(request.body) }))
        : requests,
    );
};

const anyOf = (choices: readonly Weighted[]): Arbitrary<Write> =>
  fc
    .oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })))
    .map((write) => [write].flat());

/** `kubectl` has privileges over fields that it applied on the client. */
const manager = of('a', 'a', 'b', 'b', 'c', 'kubectl');

/** A query with a manager, and at times a dry run and a validation of unknown fields. */
const query = fc
  .tuple(manager, of('', '', '', '', '', '&dryRun=All'), of('', '', '', 'Warn', 'Strict', 'Ignore'))
  .map(([by, dryRun, mode]) => `${by}${dryRun}${mode === '' ? '' : `&fieldValidation=${mode}`}`);

interface Places {
  readonly all: string;
  readonly one: string;
  readonly name: string;
}

function placesOf(
  { plural, namespaced = true }: RandomKind,
  { apiVersion }: RandomVersion,
): Places {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const all = `${root}${namespaced ? '/namespaces/{{ns}}' : ''}/${plural}`;
  const name = namespaced ? 'one' : '{{ns}}-one';
  return { all, name, one: `${all}/${name}` };
}

/** Returns a body with `content` beside its metadata. */
function bodyOf(
  kind: RandomKind,
  version: RandomVersion,
  content: Arbitrary<Body>,
): Arbitrary<Body> {
  const { name } = placesOf(kind, version);
  const { apiVersion } = version;
  return fc
    .tuple(metadata, content)
    .map(([meta, rest]) => ({ apiVersion, kind: kind.kind, metadata: { ...meta, name }, ...rest }));
}

function createOf(kind: RandomKind, version: RandomVersion): Arbitrary<Request> {
  const { all, one } = placesOf(kind, version);
  const body = bodyOf(kind, version, version.fields);
  return fc.oneof(
    fc.tuple(manager, body).map(([by, object]) => post(`${all}?fieldManager=${by}`, object)),
    fc.tuple(manager, body).map(([by, object]) => apply(by, one, object)),
  );
}

/** Returns a write through a version of a kind: to the object, its status or its scale. */
function writeOf(kind: RandomKind, version: RandomVersion): Arbitrary<Write> {
  const { fields, status } = version;
  const places = placesOf(kind, version);
  const { all } = places;
  const named = (content: Arbitrary<Body>): Arbitrary<Body> => bodyOf(kind, version, content);
  const body = named(fields);
  const creation = fc
    .tuple(query, withChanges(body))
    .map(([by, object]) => post(`${all}?fieldManager=${by}`, object));
  const deletion = of('Background', 'Orphan').map((propagationPolicy) =>
    remove(places.one, { propagationPolicy }),
  );
  return anyOf([
    [16, writeTo(places.one, body, kind)],
    [2, kubectlApply(places.one, body)],
    ...[[2, creation] as const, [1, deletion] as const],
    ...(status === undefined
      ? []
      : [[4, statusOf(kind, places, named(status.map((value) => ({ status: value }))))] as const]),
    ...(kind.hasScale === true ? [[2, scaleOf(places)] as const] : []),
  ]);
}

/** Returns a write of `body` to a path, by every verb. */
function writeTo(
  one: string,
  body: Arbitrary<Body>,
  { strategic }: Pick<RandomKind, 'strategic'>,
): Arbitrary<Write> {
  const few = withFewFields(body);
  const patchBody = fc.oneof(withChanges(few), withChanges(body));
  const edited = fc.oneof(few, few.map(withoutName), resets).map((edit): Edit => ({ edit }));
  const patched = (
    type: 'json' | 'merge' | 'strategic',
    content: Arbitrary<unknown>,
  ): Arbitrary<Request> =>
    fc.tuple(query, content).map(([by, value]) => patch(type, `${one}?fieldManager=${by}`, value));
  return anyOf([
    [5, applied(one, withChanges(body))],
    [4, applied(one, withChanges(few))],
    [
      1,
      fc
        .tuple(query, withChanges(body))
        .map(([by, object]) => put(`${one}?fieldManager=${by}`, object)),
    ],
    [
      2,
      fc
        .tuple(query, edited)
        .map(([by, edit]) => [get(one), put(`${one}?fieldManager=${by}`, edit)]),
    ],
    // The object that was read last is stale if another write followed the read.
    [1, fc.tuple(query, edited).map(([by, edit]) => put(`${one}?fieldManager=${by}`, edit))],
    [2, patched('merge', patchBody)],
    [2, patched('json', operationsOf(few))],
    ...(strategic ? [[4, patched('strategic', withDirectives(patchBody))] as const] : []),
  ]);
}

const applied = (one: string, body: Arbitrary<Body>): Arbitrary<Request> =>
  fc.tuple(query, body, fc.boolean()).map(([by, object, force]) => apply(by, one, object, force));

/** Edits that reset `managedFields`, that drop the `resourceVersion`, or that change nothing. */
const resets = of<Body>(
  { metadata: { managedFields: [] } },
  { metadata: { managedFields: [{}] } },
  { metadata: { managedFields: null } },
  { metadata: { resourceVersion: null } },
  {},
);

/** An edit of an object does not have to repeat its name. */
function withoutName({ metadata: meta, ...rest }: Body): Body {
  return { ...rest, metadata: { ...(meta as Body), name: undefined } };
}

/** An apply on the client, as `kubectl apply` does it: a patch with the applied object as an annotation. */
function kubectlApply(one: string, body: Arbitrary<Body>): Arbitrary<Request> {
  const by = 'kubectl-client-side-apply';
  return withFewFields(body).map((object) => {
    const meta = object['metadata'] as Body;
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { ...(meta['annotations'] as Body), [annotation]: JSON.stringify(object) };
    const merged = { ...object, metadata: { ...meta, annotations } };
    return patch('merge', `${one}?fieldManager=${by}`, merged);
  });
}

function statusOf(kind: RandomKind, { one }: Places, body: Arbitrary<Body>): Arbitrary<Write> {
  return fc.oneof(
    { weight: 4, arbitrary: writeTo(`${one}/status`, body, kind) },
    { weight: 1, arbitrary: applied(one, body).map((request) => [request]) },
  );
}

function scaleOf({ one, name }: Places): Arbitrary<Write> {
  const body = fc.tuple(metadata, members({}, { replicas: small })).map(([meta, spec]) => ({
    ...{ apiVersion: 'autoscaling/v1', kind: 'Scale' },
    metadata: { ...meta, ownerReferences: undefined, name },
    spec,
  }));
  const plain = body.map((object) => ({ ...object, metadata: { name } }));
  return writeTo(`${one}/scale`, fc.oneof(plain, body), { strategic: false });
}
