import { expect } from 'chai';
import { rename, writeFile } from 'node:fs/promises';
import { watchFiles } from '../../lib/cli/watch-files.js';
import { VirtualClock, silentLogger } from '../../lib/system/index.js';
import { eventually } from '../../lib/testing/index.js';
import { scratchDirectory } from './cli.js';

describe('Watched files', () => {
  const file = scratchDirectory();
  const clock = new VirtualClock();
  const stop = new AbortController();
  let calls = 0;
  let watching: Promise<void>;

  before(async () => {
    await writeFile(file('operator.yaml'), 'first');
    watching = watchFiles([file('operator.yaml')], {
      ...{ clock, logger: silentLogger, signal: stop.signal },
      onChange: () => {
        calls++;
        return Promise.resolve();
      },
    });
  });

  after(async () => {
    stop.abort();
    await watching;
  });

  /** Writes a file until its directory is heard to have changed, and lets that settle. */
  async function written(name: string, text: string): Promise<void> {
    await eventually(async () => {
      // At once: nobody reads half of it.
      await writeFile(file('draft'), text);
      await rename(file('draft'), file(name));
      expect(clock.pendingTimers).to.equal(1);
    });
    await clock.advance(100);
  }

  it('have changed only where their texts have, whatever is written beside them', async () => {
    await written('operator.yaml', 'second');
    await eventually(() => expect(calls).to.equal(1));
    // As a log does that goes to the same directory.
    await written('operator.log', 'something');
    await written('operator.yaml', 'second');
    await written('operator.yaml', 'third');
    await eventually(() => expect(calls).to.equal(2));
  });
});
