import { expect } from 'chai';
import { whenAborted } from '../../lib/system/clock.js';

describe('whenAborted', () => {
  it('resolves when the signal is aborted, whatever the reason, and not before', async () => {
    const ending = new AbortController();
    let isOver = false;
    const over = whenAborted(ending.signal).then(() => (isOver = true));
    await new Promise((done) => setImmediate(done));
    expect(isOver).to.equal(false);
    ending.abort(new Error('enough'));
    await over;
  });

  it('resolves at once if the signal was aborted before', () => whenAborted(AbortSignal.abort()));
});
