import { expect } from 'chai';
import { planJoinOrders } from '../../../lib/declarative/engine/compile-join.js';
import type { Equality } from '../../../lib/declarative/engine/compile-join.js';

/** An equality between two sides. */
function equal(left: readonly [number, number], right: readonly [number, number]): Equality {
  return [
    { source: left[0], side: left[1] },
    { source: right[0], side: right[1] },
  ];
}

describe('planJoinOrders', () => {
  it('uses one index lookup for all equalities between two sources', () => {
    const { steps, indexes, untied } = planJoinOrders(2, [
      equal([0, 0], [1, 0]),
      equal([1, 1], [0, 1]),
    ]);
    expect(indexes).to.deep.equal([[[0, 1]], [[0, 1]]]);
    expect(untied).to.deep.equal([]);
    expect(steps[0]).to.deep.equal([
      {
        source: 1,
        index: 0,
        probes: [
          { source: 0, side: 0 },
          { source: 0, side: 1 },
        ],
        readyAfter: 0,
      },
    ]);
  });

  it('joins a chain of sources from either end and from its middle', () => {
    const { steps, untied } = planJoinOrders(4, [
      equal([0, 0], [1, 0]),
      equal([1, 1], [2, 0]),
      equal([2, 1], [3, 0]),
    ]);
    const orders = steps.map((order) => order.map(({ source }) => source));
    expect(orders).to.deep.equal([
      [1, 2, 3],
      [0, 2, 3],
      [1, 0, 3],
      [2, 1, 0],
    ]);
    expect(untied).to.deep.equal([]);
  });

  it('joins next the source that has the most equalities with the joined sources', () => {
    const { steps } = planJoinOrders(3, [
      equal([0, 0], [1, 0]),
      equal([0, 1], [2, 0]),
      equal([0, 2], [2, 1]),
    ]);
    expect(steps[0]?.map(({ source }) => source)).to.deep.equal([2, 1]);
  });

  it('records the step after which the keys of a lookup are known', () => {
    const star = planJoinOrders(4, [
      equal([0, 0], [1, 0]),
      equal([0, 0], [2, 0]),
      equal([0, 0], [3, 0]),
    ]);
    expect(star.steps[0]?.map(({ readyAfter }) => readyAfter)).to.deep.equal([0, 0, 0]);
    expect(star.steps[3]?.map(({ readyAfter }) => readyAfter)).to.deep.equal([0, 1, 1]);
  });

  it('reports a source without an equality to the joined sources, and scans it', () => {
    const { steps, untied } = planJoinOrders(4, [equal([0, 0], [1, 0]), equal([2, 0], [3, 0])]);
    expect(untied).to.deep.equal([2]);
    expect(steps[0]?.map(({ source, index }) => [source, index])).to.deep.equal([
      [1, 0],
      [2, undefined],
      [3, 0],
    ]);
  });
});
