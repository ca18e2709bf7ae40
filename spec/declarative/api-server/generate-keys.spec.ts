import { X509Certificate, createPrivateKey } from 'node:crypto';
import { chmod, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createToken,
  generateKeys,
  rotateTokenKey,
} from '../../../lib/declarative/api-server/index.js';
import type { KeyFiles } from '../../../lib/declarative/api-server/index.js';
import { TokenVerifier, verifyingKeys } from '../../../lib/declarative/api-server/tokens.js';
import { systemClock } from '../../../lib/system/clock.js';

const dayMs = 24 * 3_600_000;
const claims = { username: 'alice', namespaces: ['n'], rules: [] };

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );
}

describe('generateKeys', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'view-keys-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  describe('in a new directory', () => {
    let parent: string;
    let files: KeyFiles;
    before(async () => {
      parent = await mkdtemp(join(tmpdir(), 'view-keys-'));
      const hostNames = ['views.example', '10.0.0.7', 'localhost'];
      const directory = join(parent, 'more', 'keys');
      files = await generateKeys({ directory, hostNames, validForDays: 30 });
    });
    after(() => rm(parent, { recursive: true }));

    it('gives only the owner access to the files and the directory', async () => {
      const directory = join(parent, 'more', 'keys');
      expect(await modeOf(directory)).to.equal('700');
      const names = ['tls.crt', 'tls.key', 'token.key', 'token.pub'];
      expect((await readdir(directory)).sort()).to.deep.equal(names);
      for (const name of names) expect(await modeOf(join(directory, name))).to.equal('600');
    });

    it('creates a certificate for the host names and the loopback addresses', async () => {
      const certificate = new X509Certificate(await readFile(files.certificate));
      expect(certificate.subjectAltName?.split(', ')).to.deep.equal([
        'DNS:views.example',
        'IP Address:10.0.0.7',
        'DNS:localhost',
        'IP Address:127.0.0.1',
        'IP Address:0:0:0:0:0:0:0:1',
      ]);
      expect(certificate.subject).to.equal('CN=views.example');
      expect(certificate.verify(certificate.publicKey)).to.equal(true);
      const key = createPrivateKey(await readFile(files.privateKey));
      expect(certificate.checkPrivateKey(key)).to.equal(true);
      expect(key.asymmetricKeyDetails?.modulusLength).to.be.at.least(2048);
      const daysLeft = (Date.parse(certificate.validTo) - systemClock.now()) / dayMs;
      expect(daysLeft).to.be.closeTo(30, 0.1);
    });

    it('creates a separate key pair for tokens', async () => {
      const verifier = new TokenVerifier({
        keys: verifyingKeys(await readFile(files.tokenKey, 'utf8')),
      });
      const now = systemClock.now();
      const token = await createToken(claims, await readFile(files.signingKey, 'utf8'));
      expect(await verifier.verify(token, now)).to.deep.include({ claims });
      const other = await createToken(claims, await readFile(files.privateKey, 'utf8'));
      expect(await verifier.verify(other, now))
        .to.have.property('problem')
        .that.contains('key');
    });
  });

  it('writes no file at all if one of the files exists', async () => {
    await writeFile(join(folder, 'token.pub'), 'mine');
    const error = await failure(generateKeys({ directory: folder }));
    expect(error).to.have.property('code', 'InvalidOption');
    expect(String(error)).to.contain('token.pub exists already: give force');
    expect(await readdir(folder)).to.deep.equal(['token.pub']);
    expect(await readFile(join(folder, 'token.pub'), 'utf8')).to.equal('mine');
  });

  it('replaces files, modes and symbolic links with force, but not the targets of the links', async () => {
    await writeFile(join(folder, 'tls.key'), 'old');
    await chmod(join(folder, 'tls.key'), 0o644);
    await writeFile(join(folder, 'elsewhere'), 'precious');
    await symlink(join(folder, 'elsewhere'), join(folder, 'token.key'));
    const files = await generateKeys({ directory: folder, force: true });
    expect(await readFile(files.privateKey, 'utf8')).to.contain('PRIVATE KEY');
    expect(await modeOf(files.privateKey)).to.equal('600');
    expect(await readFile(files.signingKey, 'utf8')).to.contain('PRIVATE KEY');
    expect(await readFile(join(folder, 'elsewhere'), 'utf8')).to.equal('precious');
  });

  for (const name of ['https://views.example', 'views.example:8443', 'a b', '']) {
    it(`refuses the host name ${JSON.stringify(name)}`, async () => {
      const hostNames = ['views.example', '::1', '*.example', name];
      const error = await failure(generateKeys({ directory: folder, hostNames }));
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error).to.have.property(
        'message',
        `keys: want a host name or an address, got ${JSON.stringify(name)}`,
      );
    });
  }

  for (const validForDays of [0, 0.9, NaN, 36_501]) {
    it(`refuses to create a certificate for ${validForDays} days`, async () => {
      const error = await failure(generateKeys({ directory: folder, validForDays }));
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error).to.have.property(
        'message',
        `keys: want validForDays from 1 to 36500, got ${validForDays}`,
      );
    });
  }

  it('can create certificates that are valid for one day to 36,500 days', async () => {
    // The existing file is refused after the options are checked, and before keys are made, which would take long.
    await writeFile(join(folder, 'token.pub'), 'mine');
    for (const validForDays of [1, 36_500]) {
      const error = await failure(generateKeys({ directory: folder, validForDays }));
      expect(String(error)).to.contain('token.pub exists already');
    }
  });
});

describe('rotateTokenKey', () => {
  it('says what to run if the directory has no keys, and writes nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'view-keys-'));
    const error = await failure(rotateTokenKey(folder));
    expect(error).to.have.property('code', 'InvalidOption');
    expect(String(error)).to.include('token.pub').and.include('create keys before you rotate them');
    expect(await readdir(folder)).to.deep.equal([]);
    await rm(folder, { recursive: true });
  });
});
