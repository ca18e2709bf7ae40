import { expect } from 'chai';
import {
  ErrorStream,
  statusChannelBufferSize,
} from '../../../lib/declarative/operator/error-stream.js';
import type { ReportedError } from '../../../lib/declarative/runtime/reported-errors.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('ErrorStream', () => {
  it('passes on the first three errors at once, then three in two seconds', async () => {
    const clock = new VirtualClock();
    const errors = new ErrorStream({ clock });
    for (let number = 1; number <= 10; number++) {
      for (const half of ['a', 'b']) errors.push(errorOf(`${number}${half}`));
      await clock.advance(500);
    }
    errors.end();
    expect(await messages(errors)).to.deep.equal([
      '1a',
      '1b',
      '2a',
      '5a',
      '5b',
      '6a',
      '9a',
      '9b',
      '10a',
    ]);
    expect(errors.suppressed).to.equal(11);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('limits each operator separately', async () => {
    const errors = new ErrorStream({ clock: new VirtualClock() });
    for (let number = 1; number <= 5; number++) errors.push(errorOf(`noisy ${number}`, 'noisy'));
    errors.push(errorOf('quiet', 'quiet'));
    errors.end();
    expect(await messages(errors)).to.deep.equal(['noisy 1', 'noisy 2', 'noisy 3', 'quiet']);
  });

  it('buffers at most 64 errors, and drops the newest', async () => {
    const errors = new ErrorStream({ clock: new VirtualClock() });
    for (let number = 1; number <= 70; number++) errors.push(errorOf(`${number}`, `${number}`));
    errors.end();
    const read = await messages(errors);
    expect(read).to.have.length(statusChannelBufferSize).and.include('64').and.not.include('65');
    expect(errors.suppressed).to.equal(6);
  });

  it('passes an error to a reader that already waits', async () => {
    const errors = new ErrorStream();
    const reader = errors[Symbol.asyncIterator]();
    const next = reader.next();
    errors.push(errorOf('now'));
    expect((await next).value).to.have.property('message', 'now');
  });

  it('ends all readers when the stream ends, and drops later errors', async () => {
    const errors = new ErrorStream();
    const reading = Promise.all([messages(errors), messages(errors)]);
    errors.push(errorOf('one'));
    errors.end();
    errors.push(errorOf('late'));
    expect((await reading).flat()).to.deep.equal(['one']);
  });

  it('passes no error to a reader that has ended, so that no error is lost', async () => {
    const errors = new ErrorStream();
    const leaving = errors[Symbol.asyncIterator]();
    const unread = leaving.next();
    await leaving.return?.();
    errors.push(errorOf('for the next one'));
    expect((await unread).done).to.equal(true);
    expect((await leaving.next()).done).to.equal(true);
    errors.end();
    expect(await messages(errors)).to.deep.equal(['for the next one']);
  });
});

async function messages(errors: AsyncIterable<ReportedError>): Promise<string[]> {
  const read: string[] = [];
  for await (const { message } of errors) read.push(message);
  return read;
}

function errorOf(message: string, operator = 'shop'): ReportedError {
  const error = new Error(message);
  return { operator, controller: 'prices', stage: 'target', message, atMs: 0, error };
}
