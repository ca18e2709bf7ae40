import { expect } from 'chai';
import { allSettled } from '../../../lib/declarative/operator/controller-set.js';

describe('allSettled', () => {
  const failing = (text: string) => Promise.reject(new Error(text));

  it('resolves when no promise rejects', async () => {
    await allSettled([]);
    await allSettled([Promise.resolve(1), Promise.resolve(undefined)]);
  });

  it('throws a single error after all promises have settled', async () => {
    const settled: string[] = [];
    const slow = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      settled.push('slow');
    });
    const error: unknown = await allSettled([failing('one'), slow]).catch((e: unknown) => e);
    expect(error).to.be.an('error').with.property('message', 'one');
    expect(error).to.not.be.instanceOf(AggregateError);
    expect(settled).to.deep.equal(['slow']);
  });

  it('throws an AggregateError of several errors', async () => {
    const work = [failing('one'), Promise.resolve(), failing('two')];
    const error: unknown = await allSettled(work).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(AggregateError).with.property('message', 'one; two');
    expect((error as AggregateError).errors).to.have.length(2);
  });
});
