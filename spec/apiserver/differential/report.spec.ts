import { expect } from 'chai';
import type { Comparison } from './comparison.js';
import type { ListedDifference } from './listed-differences.js';
import { isClean, reportOf, reportText } from './report.js';

const answer = (code: number, body: unknown) => ({ code, type: 'application/json', body });

function comparison(embedded: unknown, real: unknown, codes = [200, 200]): Comparison {
  const [one = 0, other = 0] = codes;
  return {
    ...{ scenario: 'life', request: { method: 'GET', path: '/a' } },
    ...{ embedded: answer(one, embedded), real: answer(other, real) },
  };
}

const excused = { subjects: ['verbs'], of: /^life: GET \/a$/, reason: 'because' };
const entry: ListedDifference = { ...excused, at: /^\.body\.a$/ };

describe('the report about the differences between the embedded server and a real one', () => {
  it('counts an answer as listed only if the list of known differences contains each of its differences', () => {
    const comparisons = [
      comparison({ a: 1, b: 1 }, { a: 1, b: 1 }),
      comparison({ a: 1, b: 1 }, { a: 2, b: 1 }),
      comparison({ a: 1, b: 1 }, { a: 2, b: 2 }),
    ];
    const report = reportOf('verbs', comparisons, [entry]);
    expect(report).to.deep.include({ requests: 3, agreed: 1, listed: 1, unused: [] });
    expect(report.unlisted).to.deep.equal([
      { comparison: comparisons[2], differences: [{ path: '.body.b', embedded: 1, real: 2 }] },
    ]);
    expect(isClean(report)).to.equal(false);
  });

  it('accepts an entry of the list for a whole answer only if the entry has the status codes of both servers', () => {
    const whole = { ...excused, codes: [{ embedded: 404, real: 200 }] };
    const differ = (codes: number[]) =>
      reportOf('verbs', [comparison('no', { a: 1 }, codes)], [whole]).unlisted.length;
    expect([differ([404, 200]), differ([404, 201]), differ([200, 404])]).to.deep.equal([0, 1, 1]);
  });

  it('fails if a difference of the list occurs in no answer', () => {
    const report = reportOf('verbs', [comparison('a', 'a')], [entry]);
    expect(report.unused).to.deep.equal([entry]);
    expect(isClean(report)).to.equal(false);
    expect(isClean(reportOf('reads', [comparison('a', 'a')], [entry]))).to.equal(true);
  });

  it('counts the answers that agreed only in the second of two runs', () => {
    const later = { ...comparison('a', 'a'), differedBefore: true };
    const report = reportOf('verbs', [later, comparison('a', 'a')], []);
    expect(report).to.deep.include({ agreed: 2, agreedLater: 1, unlisted: [] });
    expect(isClean(report)).to.equal(true);
    expect(reportText(report)).to.include('differed in the first of two runs: 1 requests');
  });
});
