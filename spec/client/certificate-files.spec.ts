import { expect } from 'chai';
import { keepingFormer, withCertificateFiles } from '../../lib/client/credentials.js';
import { bearerToken } from '../../lib/client/index.js';
import type { TlsOptions } from '../../lib/system/connector.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import type { LogLine } from '../manager/manager-setup.js';
import { rememberingLogger } from '../manager/manager-setup.js';

function setUp() {
  const lines: LogLine[] = [];
  const clock = new VirtualClock();
  const files: { current: TlsOptions; problem: string } = { current: { cert: 'a' }, problem: '' };
  const counts = { reads: 0, reconnects: 0 };
  const read = async (): Promise<TlsOptions> => {
    counts.reads++;
    if (files.problem !== '') throw new Error(files.problem);
    return files.current;
  };
  const tls = keepingFormer(read, rememberingLogger(lines));
  let connection: TlsOptions | undefined;
  const reconnect = async (): Promise<void> => {
    counts.reconnects++;
    connection = undefined;
  };
  const credentials = withCertificateFiles(bearerToken('t'), { clock, read, tls, reconnect });
  /** Returns the certificate of the connection in use. */
  const connected = async () => (connection ??= await tls()).cert;
  return { clock, connected, counts, credentials, files, lines };
}

describe('withCertificateFiles', () => {
  it('reads the files once a minute, and reconnects only if the certificate changed', async () => {
    const { clock, counts, credentials, files } = setUp();
    for (let n = 0; n < 3; n++) {
      expect(await credentials.headers()).to.deep.equal({ authorization: 'Bearer t' });
    }
    expect(counts).to.deep.equal({ reads: 1, reconnects: 0 });
    files.current = { cert: 'a', ca: 'another CA is seen by new connections anyway' };
    await clock.advance(60_000);
    await credentials.headers();
    expect(counts).to.deep.equal({ reads: 2, reconnects: 0 });
    files.current = { cert: 'b' };
    await clock.advance(60_000);
    await credentials.headers();
    expect(counts).to.deep.equal({ reads: 3, reconnects: 1 });
  });

  it('reads the files again at once when the server rejects the certificate', async () => {
    const { counts, credentials, files } = setUp();
    await credentials.headers();
    files.current = { cert: 'b' };
    await credentials.refresh?.();
    expect(counts.reconnects).to.equal(1);
  });

  it('replaces a rejected certificate, even if the files were missing at the next connection', async () => {
    const { clock, connected, credentials, files } = setUp();
    await credentials.headers();
    expect(await connected()).to.equal('a');
    files.current = { cert: 'b' };
    await credentials.refresh?.();
    files.problem = 'away';
    await connected();
    files.problem = '';
    await clock.advance(60_000);
    await credentials.headers();
    expect(await connected()).to.equal('b');
  });

  it('keeps the certificate while the files are missing, but rejects a call of refresh()', async () => {
    const { clock, counts, credentials, files } = setUp();
    await credentials.headers();
    files.problem = 'away';
    await clock.advance(60_000);
    await credentials.headers();
    const refused = await credentials.refresh?.().catch((error: unknown) => error);
    expect(refused).to.have.property('message', 'away');
    expect(counts.reconnects).to.equal(0);
  });

  it('logs each error of reading the files once, and logs when the files can be read again', async () => {
    const { clock, credentials, files, lines } = setUp();
    await credentials.headers();
    for (const problem of ['away', 'away', 'no permission', 'no permission', '', '', 'away']) {
      files.problem = problem;
      await clock.advance(60_000);
      await credentials.headers();
    }
    const said = lines.map(({ level, fields }) => [level, fields['error']].map(String).join(' '));
    expect(said).to.deep.equal([
      ...['warn Error: away', 'warn Error: no permission', 'info undefined', 'warn Error: away'],
    ]);
  });
});
