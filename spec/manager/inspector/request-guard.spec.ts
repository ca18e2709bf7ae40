import { expect } from 'chai';
import {
  isLoopback,
  resolveInspectorOptions,
} from '../../../lib/manager/inspector/bind-inspector.js';
import type { Manager } from '../../../lib/manager/manager.js';
import { ManagerSetup } from '../manager-setup.js';
import { onLoopback } from '../served.js';
import { inspected } from './inspected.js';

describe('The server of the inspector', () => {
  let setup: ManagerSetup;
  let manager: Manager;

  beforeEach(async () => {
    setup = await ManagerSetup.start();
    manager = setup.manager({ inspector: { ...onLoopback, allowedHosts: ['Inspector.Corp'] } });
    await setup.run(manager);
    await manager.whenStarted();
  });
  afterEach(() => setup.end());

  it('rejects requests to other host names on every path', async () => {
    for (const path of ['/', '/events', '/status.json', '/object', '/objects', '/other']) {
      const headers = { host: 'evil.example' };
      const { status, text } = await inspected(manager, path, { headers });
      expect([status, text]).to.deep.equal([
        ...[403, 'host "evil.example" is not allowed; add it to the option allowedHosts\n'],
      ]);
    }
    const { status } = await inspected(manager, '/', { headers: { host: 'inspector.corp:80' } });
    expect(status).to.equal(200);
  });

  it('answers only GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, headers } = await inspected(manager, '/', { method });
      expect([status, headers.allow]).to.deep.equal([405, 'GET, HEAD']);
    }
    const { status, text } = await inspected(manager, '/events', { method: 'HEAD' });
    expect([status, text]).to.deep.equal([200, '']);
  });

  it('allows the style and the script of the page by a nonce that changes with each response', async () => {
    const answers = [await inspected(manager, '/'), await inspected(manager, '/')];
    const nonces = answers.map(({ headers, text }) => {
      const policy = String(headers['content-security-policy']);
      const [, nonce = ''] = /script-src 'nonce-([^']+)'/.exec(policy) ?? [];
      expect(policy).to.include("default-src 'none'").and.not.include('unsafe');
      expect(text).to.include(`<script nonce="${nonce}">`).and.include(`<style nonce="${nonce}">`);
      expect(text).to.not.match(/ style=| on[a-z]+=/);
      return nonce;
    });
    expect(nonces[0]).to.not.equal(nonces[1]);
    expect(answers[0]!.headers).to.include({
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  it('answers 404 to an unknown path', async () => {
    expect((await inspected(manager, '/secrets')).status).to.equal(404);
  });
});

describe('The inspector options', () => {
  it('default to loopback', () => {
    expect(resolveInspectorOptions({})).to.deep.equal({
      ...{ port: 8082, host: '127.0.0.1', allowedHosts: new Set(), maxLivePages: 8 },
      updateMs: 1_000,
    });
    expect(['127.0.0.1', '127.9.9.9', '::1', 'localhost'].map(isLoopback)).to.not.include(false);
    expect(['0.0.0.0', '::', '10.0.0.1', '127.evil.example'].map(isLoopback)).to.not.include(true);
  });

  for (const options of [
    ...[{ port: -1 }, { port: 65_536 }, { port: 1.5 }, { host: '' }, { maxLivePages: 0 }],
    ...[{ maxLivePages: NaN }, { updateMs: 99 }, { updateMs: NaN }, { updateMs: Infinity }],
  ]) {
    it(`reject ${JSON.stringify(options)}`, () => {
      expect(() => resolveInspectorOptions(options))
        .to.throw('inspector')
        .with.property('code', 'InvalidOption');
    });
  }
});
