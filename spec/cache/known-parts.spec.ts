import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { newIntake, StringPool } from '../../lib/cache/intake.js';
import { KnownParts } from '../../lib/cache/known-parts.js';
import { isJsonObject } from '../../lib/object/index.js';
import type { KubernetesObject } from '../../lib/object/index.js';

interface Thing extends KubernetesObject {
  spec?: unknown;
}

/** A cache of one object, which reads its spec from text. */
function cached(knownParts = new KnownParts(), uid = 'u') {
  const take = newIntake<Thing>({
    type: { group: '', version: 'v1', kind: 'O', plural: 'os', namespaced: true },
    keepManagedFields: () => false,
    metadataOnly: false,
    freeze: true,
    strings: new StringPool(),
    knownParts,
  });
  let stored: Thing | undefined;
  return (spec: string): unknown => {
    const read = knownParts.read(uid, 'spec', spec);
    stored = take(
      { apiVersion: 'v1', kind: 'O', metadata: { name: 'a', uid }, spec: read },
      stored,
    );
    return stored.spec;
  };
}

const spec = '{"list":[{"name":"a text that is shared"}]}';
const other = '{"list":[{"name":"a text that is shared"},1]}';

describe('spec and status values that KnownParts finds by their text', () => {
  it('are the cached values of the same object if the text is the latest of that object', () => {
    const known = new KnownParts();
    const change = cached(known);
    const first = change(spec);
    expect(known.read('u', 'spec', spec)).to.equal(first).and.to.be.frozen;
    expect(known.read('v', 'spec', spec)).to.deep.equal(first).and.not.to.be.frozen;
    expect(known.read('u', 'status', spec)).not.to.equal(first);
    expect(known.read(undefined, 'spec', spec)).not.to.equal(first);
    const second = change(other);
    expect(known.read('u', 'spec', other)).to.equal(second);
    expect(known.read('u', 'spec', spec)).not.to.equal(first);
  });

  it('are not shared before the object is in the cache', () => {
    const known = new KnownParts();
    const first = known.read('u', 'spec', spec);
    expect(known.read('u', 'spec', spec)).not.to.equal(first);
  });

  it('equal the texts after any changes, and are frozen', () => {
    const texts = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue()), {
      minLength: 2,
      maxLength: 3,
    });
    const order = fc.array(fc.nat({ max: 2 }), { maxLength: 8 });
    const property = fc.property(texts, order, (specs, picks) => {
      const known = new KnownParts();
      const changes = [cached(known), cached(known, 'v')];
      for (const [n, pick] of picks.entries()) {
        const text = JSON.stringify(specs[pick % specs.length]);
        const value = changes[n % 2]?.(text);
        expect(JSON.stringify(value)).to.equal(text);
        expect(isJsonObject(value) && Object.isFrozen(value)).to.equal(true);
      }
    });
    fc.assert(property);
  });

  it('do not keep in memory the chunks of a watch that contained their texts', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapMb = (): number => {
      collect();
      return process.memoryUsage().heapUsed / 1e6;
    };
    const known = new KnownParts();
    const before = heapMb();
    const values = Array.from({ length: 300 }, (_, n) => {
      const text = JSON.stringify({ name: `an object with the number ${n}` });
      const chunk = Buffer.from(text + 'x'.repeat(100_000)).toString();
      return cached(known, `u${n}`)(chunk.slice(0, text.length));
    });
    expect(heapMb() - before).to.be.below(10);
    expect(values).to.have.length(300);
  });

  it('have a limited total length, and include the latest value', () => {
    const known = new KnownParts();
    const text = JSON.stringify({ long: 'x'.repeat(1_000_000) });
    const values = Array.from({ length: 9 }, (_, n) => cached(known, `u${n}`)(text));
    expect(known.characters).to.be.within(3_000_000, 4 * 2 ** 20);
    expect(known.read('u8', 'spec', text)).to.equal(values[8]);
    expect(known.read('u0', 'spec', text)).not.to.equal(values[0]);
  });
});
