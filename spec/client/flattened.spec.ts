import { expect } from 'chai';
import { flattened, inBatches } from '../../lib/client/watch-events.js';

interface Source {
  readonly batches: AsyncGenerator<Iterable<number>>;
  ended: boolean;
}

function sourceOf(batches: readonly Iterable<number>[], error?: Error): Source {
  const noted = { ended: false };
  async function* given(): AsyncGenerator<Iterable<number>> {
    try {
      yield* batches;
      if (error !== undefined) throw error;
    } finally {
      noted.ended = true;
    }
  }
  return Object.assign(noted, { batches: given() });
}

function* breaking(): Generator<number> {
  yield 1;
  throw new Error('broken');
}

async function read(items: AsyncIterable<number>): Promise<readonly [number[], unknown]> {
  const seen: number[] = [];
  try {
    for await (const item of items) seen.push(item);
  } catch (error) {
    return [seen, (error as Error).message];
  }
  return [seen, undefined];
}

describe('flattened, which yields the items of batches one by one', () => {
  it('yields the items of all batches, empty ones included, and then ends', async () => {
    const items = flattened(sourceOf([[], [1, 2], [], [3]]).batches);
    expect(await read(items)).to.deep.equal([[1, 2, 3], undefined]);
    expect(await items.next()).to.deep.equal({ done: true, value: undefined });
  });

  for (const [what, source] of [
    ['an item', sourceOf([[0], breaking(), [3]])],
    ['the batches', sourceOf([[0], [1]], new Error('broken'))],
  ] as const) {
    it(`yields the items before an error of ${what}, and no items after it`, async () => {
      const items = flattened(source.batches);
      expect(await read(items)).to.deep.equal([[0, 1], 'broken']);
      expect(source.ended).to.equal(true);
      expect(await items.next()).to.deep.equal({ done: true, value: undefined });
    });
  }

  it('ends the batches when the loop exits, and drops the rest of a batch', async () => {
    const source = sourceOf([[1, 2]]);
    const items = flattened(source.batches);
    for await (const item of items) if (item === 1) break;
    expect(source.ended).to.equal(true);
    expect(await items.next()).to.deep.equal({ done: true, value: undefined });
  });

  it('answers calls of next() that do not wait for each other in order', async () => {
    const items = flattened(sourceOf([[1, 2], [3]]).batches);
    const calls = [1, 2, 3, 4].map(() => items.next());
    const values = (await Promise.all(calls)).map(({ value }) => value as unknown);
    expect(values).to.deep.equal([1, 2, 3, undefined]);
  });
});

describe('inBatches, which yields items in batches', () => {
  async function readBatches(items: AsyncIterable<number>): Promise<readonly number[][]> {
    const seen: number[][] = [];
    for await (const batch of inBatches(items)) seen.push([...batch]);
    return seen;
  }

  it('yields the batches of flattened items', async () => {
    const items = flattened(sourceOf([[1, 2, 3], [], [4]]).batches);
    expect(await readBatches(items)).to.deep.equal([[1, 2, 3], [], [4]]);
  });

  it('yields a batch of one item for each item of an ordinary generator', async () => {
    async function* items(): AsyncGenerator<number> {
      yield* [1, 2];
    }
    expect(await readBatches(items())).to.deep.equal([[1], [2]]);
  });

  for (const [what, batches] of [
    ['an error of an item', [breaking(), [3]]],
    ['a break', [[1, 2], [3]]],
  ] as const) {
    it(`ends the generator of the items when the loop exits by ${what}`, async () => {
      const source = sourceOf(batches);
      const seen: number[] = [];
      const reading = (async () => {
        for await (const batch of inBatches(flattened(source.batches))) {
          for (const item of batch) seen.push(item);
          break;
        }
      })();
      await reading.catch(() => undefined);
      expect(seen[0]).to.equal(1);
      expect(source.ended).to.equal(true);
    });
  }
});
