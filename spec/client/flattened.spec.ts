import { expect } from 'chai';
import { atOnce, flattened } from '../../lib/client/watch-events.js';

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

describe('flattened', () => {
  it('yields the items of all batches, empty ones included, and then ends', async () => {
    const items = flattened(sourceOf([[], [1, 2], [], [3]]).batches);
    expect(await read(items)).to.deep.equal([[1, 2, 3], undefined]);
    expect(await items.next()).to.deep.equal({ done: true, value: undefined });
  });

  for (const [what, source] of [
    ['an item', sourceOf([[0], breaking(), [3]])],
    ['the batches', sourceOf([[0], [1]], new Error('broken'))],
  ] as const) {
    it(`yields the items before an error of ${what}, and none after it`, async () => {
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

  it('answers overlapping calls in order', async () => {
    const items = flattened(sourceOf([[1, 2], [3]]).batches);
    const calls = [1, 2, 3, 4].map(() => items.next());
    const values = (await Promise.all(calls)).map(({ value }) => value as unknown);
    expect(values).to.deep.equal([1, 2, 3, undefined]);
  });

  it('yields the rest of a batch synchronously, then the next batch', async () => {
    const items = flattened(sourceOf([[1, 2, 3], [4]]).batches);
    expect([...atOnce(items)]).to.deep.equal([]);
    expect((await items.next()).value).to.equal(1);
    expect([...atOnce(items)]).to.deep.equal([2, 3]);
    expect([...atOnce(items)]).to.deep.equal([]);
    expect(await read(items)).to.deep.equal([[4], undefined]);
  });

  it('ends the batches when the loop exits after an error in the rest of a batch', async () => {
    const source = sourceOf([breaking(), [3]]);
    const items = flattened(source.batches);
    const reading = (async () => {
      for await (const item of items) expect([item, ...atOnce(items)]).to.equal('not reached');
    })();
    expect(await reading.catch((error: unknown) => (error as Error).message)).to.equal('broken');
    expect(source.ended).to.equal(true);
  });

  it('has no synchronous rest for other generators', () => {
    expect([...atOnce(sourceOf([[1, 2]]).batches)]).to.deep.equal([]);
  });
});
