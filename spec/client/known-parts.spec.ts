import { expect } from 'chai';
import fc from 'fast-check';
import type { WatchOptions } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { failureOf, scripted } from './scripted-transport.js';

type Reading = Pick<WatchOptions, 'knownParts' | 'omitManagedFields'>;
type Members = Readonly<Record<string, unknown>>;

/** Long enough that the client does not parse the whole event at once. */
const padding = 'x'.repeat(1_000);
const head = { apiVersion: 'v1', kind: 'ConfigMap' };
const metadata = { name: 'a', annotations: { padding, spec: '"spec":{' }, uid: 'u' };
const modified = (object: unknown): string =>
  `{"type":"MODIFIED","object":${JSON.stringify(object)}}`;

/** Returns known parts that parse every text, and record it. */
function noted(): Required<Pick<WatchOptions, 'knownParts'>> & { readonly texts: string[] } {
  const texts: string[] = [];
  const read = (uid: unknown, name: string, text: string): unknown => {
    const value: unknown = JSON.parse(text);
    texts.push(`${String(uid)} ${name} ${text}`);
    return value;
  };
  return { knownParts: { read }, texts };
}

async function seen(lines: readonly string[], options: Reading): Promise<readonly unknown[]> {
  const { client } = scripted(() => ({ chunks: [lines.map((line) => `${line}\n`).join('')] }));
  const objects: unknown[] = [];
  for await (const event of client.watch(ConfigMap, options)) {
    objects.push('object' in event ? event.object : event);
  }
  return objects;
}

describe('a watch with the option knownParts, which returns known spec and status values for their JSON text', () => {
  it('reuses the known spec and status of a changed object if their JSON texts are equal', async () => {
    const [spec, status] = [Object.freeze({ known: 1 }), Object.freeze({ known: 2 })];
    const read = (_: unknown, name: string): unknown => (name === 'spec' ? spec : status);
    const object = { ...head, metadata, spec: { a: 1 }, status: { b: 2 } };
    const [changed] = (await seen([modified(object)], { knownParts: { read } })) as Members[];
    expect(changed?.['spec']).to.equal(spec);
    expect(changed?.['status']).to.equal(status);
    expect(changed?.['metadata']).to.deep.equal(metadata);
  });

  it('asks knownParts only for the spec and the status of the object itself, by its UID and their JSON texts', async () => {
    const spec = { template: { spec: { list: [{ status: 'x' }] } }, text: ',"status":{' };
    const managedFields = [{ manager: 'm', fieldsV1: { 'f:spec': { 'f:spec': {} } } }];
    const object = { ...head, metadata: { ...metadata, managedFields }, spec, status: { a: [] } };
    const { texts, knownParts } = noted();
    const options = { knownParts, omitManagedFields: true };
    expect(await seen([modified(object)], options)).to.deep.equal([{ ...object, metadata }]);
    expect(texts).to.deep.equal([`u spec ${JSON.stringify(spec)}`, 'u status {"a":[]}']);
  });

  it('omits managedFields even if their JSON text has brackets within strings', async () => {
    const managedFields = [{ manager: 'm', fieldsV1: { 'k:{"ip":"[::1]"}': {} } }];
    const object = { ...head, metadata: { ...metadata, managedFields }, spec: { a: 1 } };
    const options = { knownParts: noted().knownParts, omitManagedFields: true };
    expect(await seen([modified(object)], options)).to.deep.equal([{ ...object, metadata }]);
  });

  it('asks for a spec or a status alone, and parses small and ADDED objects without asking', async () => {
    const { texts, knownParts } = noted();
    const objects = [
      { ...head, metadata, spec: { a: 1 } },
      { ...head, metadata, status: { b: 2 } },
      { ...head, metadata: { name: 'a', uid: 'u' }, spec: { short: 1 } },
    ];
    const added = { ...head, metadata, spec: { added: 1 } };
    const lines = [...objects.map(modified), `{"type":"ADDED","object":${JSON.stringify(added)}}`];
    expect(await seen(lines, { knownParts })).to.deep.equal([...objects, added]);
    expect(texts).to.deep.equal(['u spec {"a":1}', 'u status {"b":2}']);
  });

  it('reads every object as the server sent it, whatever the names and the order of its members', async () => {
    const names = fc.constantFrom('spec', 'status', 'data', '"', '"spec":{', ',"status":{', '}}');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        names,
        fc.integer(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    const members = fc.dictionary(fc.constantFrom('spec', 'status', 'data', 'x'), tree);
    const property = fc.asyncProperty(
      members,
      members,
      fc.boolean(),
      async (before, after, omit) => {
        const object = { ...before, ...head, metadata, ...after };
        const { knownParts } = noted();
        const options = { knownParts, omitManagedFields: omit };
        expect(await seen([modified(object)], options)).to.deep.equal([object]);
      },
    );
    await fc.assert(property);
  });

  it('parses the events of a kind without asking if the spec is not the last member before the status', async () => {
    const { texts, knownParts } = noted();
    const object = { ...head, metadata, spec: { a: 1 }, x: 1, status: { b: 2 } };
    const objects = Array.from({ length: 20 }, () => object);
    expect(await seen(objects.map(modified), { knownParts })).to.deep.equal(objects);
    const usual = { ...head, metadata, spec: { a: 1 } };
    await seen([...objects, usual].map(modified), { knownParts });
    expect(texts).to.deep.equal([]);
  });

  it('reports a line that is cut off', async () => {
    const line = modified({ ...head, metadata, spec: { a: { b: 1 } }, status: { b: { c: 2 } } });
    for (let length = line.indexOf('"spec":{"a"'); length < line.length; length++) {
      const error = await failureOf(
        seen([line.slice(0, length)], { knownParts: noted().knownParts }),
      );
      expect(error).to.have.property('code', 'ConnectionFailed');
    }
  });
});
