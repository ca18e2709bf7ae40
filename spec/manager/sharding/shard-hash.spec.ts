import { expect } from 'chai';
import fc from 'fast-check';
import {
  fnv1a64,
  hashOfKey,
  rangesOf,
  slotCount,
  slotOf,
} from '../../../lib/manager/sharding/assignment.js';
import type { Hash64 } from '../../../lib/manager/sharding/assignment.js';

const hex = ({ high, low }: Hash64): string =>
  high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');

/** FNV-1a as published by its authors. */
function slowFnv1a64(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}

function sharesOf(names: readonly string[], by: 'key' | 'namespace'): readonly number[] {
  const shares = [0, 0, 0];
  for (const name of names) {
    const key = by === 'key' ? { namespace: 'default', name } : { namespace: name, name: 'it' };
    shares[Math.floor((slotOf(hashOfKey(key, by)) * 3) / slotCount)]! += 1;
  }
  return shares;
}

describe('hashOfKey', () => {
  it('hashes the namespace with the FNV-1a hash that the API server uses', () => {
    // The test vectors of FNV's authors.
    expect(hex(fnv1a64(''))).to.equal('cbf29ce484222325');
    expect(hex(fnv1a64('a'))).to.equal('af63dc4c8601ec8c');
    expect(hex(fnv1a64('foobar'))).to.equal('85944171f73967e8');
    expect(hashOfKey({ namespace: 'foobar', name: 'x' }, 'namespace')).to.deep.equal(
      fnv1a64('foobar'),
    );
    fc.assert(fc.property(fc.string(), (text) => hex(fnv1a64(text)) === slowFnv1a64(text)));
  });

  it('spreads keys whose names differ only at their end evenly over the slots', () => {
    const names = Array.from({ length: 999 }, (_, n) => `tenant-${n}`);
    expect(Math.min(...sharesOf(names, 'key'))).to.be.above(290);
    // The reason why namespaces are not the default.
    expect(Math.min(...sharesOf(names, 'namespace'))).to.equal(0);
  });

  it('distinguishes clusters, namespaces and names', () => {
    const keys = [
      { name: 'a' },
      { namespace: 'a', name: 'a' },
      { cluster: 'a', name: 'a' },
      { cluster: 'a', namespace: 'a', name: 'a' },
    ];
    expect(new Set(keys.map((key) => hex(hashOfKey(key, 'key')))).size).to.equal(4);
  });

  it('hashes a cluster-scoped key by its name even if keys are hashed by namespace', () => {
    const key = { name: 'node-1' };
    expect(hashOfKey(key, 'namespace')).to.deep.equal(hashOfKey(key, 'key'));
  });
});

describe('rangesOf', () => {
  it('joins adjacent slots, and ends the last range at 2^64', () => {
    const ranges = rangesOf([0, 1, 512, 1023]);
    expect(ranges).to.deep.equal([
      { start: '0x0000000000000000', end: '0x0080000000000000' },
      { start: '0x8000000000000000', end: '0x8040000000000000' },
      { start: '0xffc0000000000000', end: '0x10000000000000000' },
    ]);
  });

  it('contains every hash in the range of its slot', () => {
    const property = fc.property(fc.string(), (name) => {
      const hash = hashOfKey({ namespace: name, name }, 'namespace');
      const [range = { start: '', end: '' }] = rangesOf([slotOf(hash)]);
      const value = BigInt(`0x${hex(hash)}`);
      return BigInt(range.start) <= value && value < BigInt(range.end);
    });
    fc.assert(property);
  });
});
