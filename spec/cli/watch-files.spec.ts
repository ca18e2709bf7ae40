import { expect } from 'chai';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchFiles } from '../../lib/cli/watch-files.js';
import type { WatchedPaths } from '../../lib/cli/watch-files.js';
import { VirtualClock, silentLogger, systemClock } from '../../lib/system/index.js';
import { eventually } from '../../lib/testing/index.js';
import { scratchDirectory } from './cli.js';

/** Returns a function for `watchFiles` that always names the same files. */
function only(...files: readonly string[]): () => Promise<WatchedPaths> {
  return () => Promise.resolve({ files, directories: [] });
}

describe('watchFiles', () => {
  const file = scratchDirectory();
  const clock = new VirtualClock();
  const stop = new AbortController();
  let calls = 0;
  let watching: Promise<void>;

  before(async () => {
    await writeFile(file('operator.yaml'), 'first');
    const begun = new Promise<void>((onWatching) => {
      watching = watchFiles(only(file('operator.yaml')), {
        ...{ clock, logger: silentLogger, signal: stop.signal, onWatching },
        onChange: () => {
          calls++;
          return Promise.resolve();
        },
      });
    });
    await begun;
  });

  after(async () => {
    stop.abort();
    await watching;
  });

  /** Writes a file until its directory reports a change, then lets the change settle. */
  async function written(name: string, text: string): Promise<void> {
    await eventually(async () => {
      // Atomically, so that no partial file is read.
      await writeFile(file('draft'), text);
      await rename(file('draft'), file(name));
      expect(clock.pendingTimers).to.equal(1);
    });
    await clock.advance(100);
  }

  it('calls onChange only when the content of a watched file changes', async () => {
    await written('operator.yaml', 'second');
    await eventually(() => expect(calls).to.equal(1));
    // A file that is not watched, like a log in the same directory.
    await written('operator.log', 'something');
    await written('operator.yaml', 'second');
    await written('operator.yaml', 'third');
    await eventually(() => expect(calls).to.equal(2));
  });

  it('logs nothing about a directory that does not exist', async () => {
    const ended = new AbortController();
    const errors: string[] = [];
    const logger = { ...silentLogger, error: (message: string) => errors.push(message) };
    const done = watchFiles(only(file('operator.yaml'), file('gone/operator.yaml')), {
      ...{ clock: systemClock, logger, signal: ended.signal },
      onWatching: () => setImmediate(() => ended.abort()),
      onChange: () => Promise.resolve(),
    });
    await done;
    expect(errors).to.deep.equal([]);
  });

  it('watches directories that are created later', async () => {
    const root = file('tree');
    await mkdir(root);
    const ended = new AbortController();
    const texts: string[] = [];
    const names = async () => {
      const entries = await readdir(root, { recursive: true, withFileTypes: true });
      const pathsOf = (wanted: (entry: (typeof entries)[0]) => boolean) =>
        entries.filter(wanted).map((entry) => join(entry.parentPath, entry.name));
      return {
        files: pathsOf((entry) => entry.isFile()),
        directories: [root, ...pathsOf((entry) => entry.isDirectory())],
      };
    };
    let onWatching: () => void = () => undefined;
    const watches = new Promise<void>((resolve) => (onWatching = resolve));
    const done = watchFiles(names, {
      ...{ clock: systemClock, logger: silentLogger, signal: ended.signal, onWatching },
      onChange: async () => {
        const { files } = await names();
        texts.push(...(await Promise.all(files.map((each) => readFile(each, 'utf8')))));
      },
    });
    const seen = (text: string): Promise<unknown> =>
      eventually(() => expect(texts).to.include(text));
    await watches;
    await mkdir(join(root, 'deep'));
    await writeFile(join(root, 'deep/a'), 'one');
    await seen('one');
    await writeFile(join(root, 'deep/a'), 'two');
    await seen('two');
    // A recreated directory of the same name must be watched again.
    await rm(join(root, 'deep'), { recursive: true });
    await mkdir(join(root, 'deep'));
    await writeFile(join(root, 'deep/a'), 'three');
    await seen('three');
    await writeFile(join(root, 'deep/a'), 'four');
    await seen('four');
    ended.abort();
    await done;
  });
});
