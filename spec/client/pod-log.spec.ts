import { expect } from 'chai';
import { podLog, podLogLines } from '../../lib/client/index.js';
import { ConnectionError } from '../../lib/system/operator-error.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { ScriptedAnswer } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web-0' };
const path = '/api/v1/namespaces/shop/pods/web-0/log';

async function linesOf(answer: ScriptedAnswer): Promise<string[]> {
  const { client } = scripted(() => answer);
  const lines: string[] = [];
  for await (const line of podLogLines(client, key)) lines.push(line);
  return lines;
}

describe('the log of a Pod', () => {
  it('is read as text, with the requested options', async () => {
    const { client, transport } = scripted(() => ({ chunks: ['one\ntw', 'o\n'] }));
    const options = { container: 'web', tailLines: 2, previous: true };
    expect(await podLog(client, key, options)).to.equal('one\ntwo\n');
    expect(transport.calls).to.deep.equal([`GET ${path}?container=web&previous=true&tailLines=2`]);
  });

  it('is read line by line, however its bytes are split', async () => {
    const bytes = Buffer.from('grüße\n\nlast');
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await linesOf({ chunks })).to.deep.equal(['grüße', '', 'last']);
    expect(await linesOf({ chunks: ['a\n'] })).to.deep.equal(['a']);
  });

  it('is followed as a stream, which ends when the loop exits', async () => {
    const chunks = ['a\nb\n', new ConnectionError('must not be read', { requestSent: true })];
    const { client, transport } = scripted(() => ({ chunks }));
    for await (const line of podLogLines(client, key, { follow: true })) {
      expect(line).to.equal('a');
      break;
    }
    expect(transport.calls).to.deep.equal([`GET ${path}?follow=true`]);
    expect(transport.requests[0]).to.have.property('streaming', true);
    expect(transport.open).to.equal(0);
  });

  it("throws the server's refusal, and a broken stream", async () => {
    const { client } = scripted(() => refusal(400, 'BadRequest'));
    expect(await failureOf(podLog(client, key))).to.have.property('status', 400);
    const chunks = ['a\n', new ConnectionError('reset', { requestSent: true })];
    const error = await failureOf(linesOf({ chunks }));
    expect(error).to.have.property('code', 'ConnectionFailed');
    expect(error.message).to.contain('get Pod/log shop/web-0');
  });
});
