import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { tokenFile } from '../../lib/client/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf } from './scripted-transport.js';
import { withFolder } from './temporary-folder.js';

describe('tokenFile', () => {
  it('reads the token, and again after a minute', () =>
    withFolder({ token: 'one\n' }, async (folder) => {
      const [path, clock] = [join(folder, 'token'), new VirtualClock()];
      const credentials = tokenFile(path, clock);
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer one' });
      await writeFile(path, 'two');
      await clock.advance(59_999);
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer one' });
      await clock.advance(1);
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer two' });
    }));

  it('reads the file again at once when the server rejects the token', () =>
    withFolder({ token: 'one' }, async (folder) => {
      const path = join(folder, 'token');
      const credentials = tokenFile(path, new VirtualClock());
      await credentials.headers();
      await writeFile(path, 'two');
      await credentials.refresh?.();
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer two' });
    }));

  for (const [title, jumpMs] of [
    ['forward', 5 * 3_600_000],
    ['back', -5 * 3_600_000],
  ] as const) {
    it(`reads the file again after a minute, and not earlier, when the wall clock jumps ${title}`, () =>
      withFolder({ token: 'one' }, async (folder) => {
        const [path, clock] = [join(folder, 'token'), new VirtualClock()];
        let offsetMs = 0;
        const credentials = tokenFile(path, {
          now: () => clock.now() + offsetMs,
          monotonicMs: () => clock.monotonicMs(),
          setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
        });
        await credentials.headers();
        await writeFile(path, 'two');
        offsetMs = jumpMs;
        expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer one' });
        await clock.advance(60_000);
        expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer two' });
        await writeFile(path, 'three');
        await credentials.refresh?.();
        expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer three' });
      }));
  }

  it('keeps the current token while the file is missing', () =>
    withFolder({ token: 'one' }, async (folder) => {
      const [path, clock] = [join(folder, 'token'), new VirtualClock()];
      const credentials = tokenFile(path, clock);
      await credentials.headers();
      await rm(path);
      await clock.advance(60_000);
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer one' });
      expect(await failureOf(credentials.refresh?.() ?? Promise.resolve())).to.have.property(
        'code',
        'InvalidKubeConfig',
      );
    }));

  for (const [title, files] of [
    ['is missing', {}],
    ['is empty', { token: ' \n' }],
  ] as const) {
    it(`names the file that ${title}`, () =>
      withFolder(files, async (folder) => {
        const path = join(folder, 'token');
        const credentials = tokenFile(path, new VirtualClock());
        const error = await failureOf(Promise.resolve(credentials.headers()));
        expect(error).to.have.property('code', 'InvalidKubeConfig');
        expect(error.message).to.contain(path);
      }));
  }
});
