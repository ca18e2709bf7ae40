import { expect } from 'chai';
import { Pod } from '../../lib/object/kinds.js';
import { ConnectionError } from '../../lib/system/operator-error.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { ScriptedAnswer } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web-0' };
const path = '/api/v1/namespaces/shop/pods/web-0/log';

async function textOf(answer: ScriptedAnswer): Promise<string> {
  const { client } = scripted(() => answer);
  let text = '';
  for await (const bytes of client.stream(Pod, key, { subresource: 'log' })) {
    text += Buffer.from(bytes).toString();
  }
  return text;
}

describe('the stream of a subresource', () => {
  it('yields all bytes of the answer', async () => {
    expect(await textOf({ chunks: ['one\ntw', 'o\n'] })).to.equal('one\ntwo\n');
  });

  it('sends its query parameters, and closes the connection when the loop exits', async () => {
    const chunks = ['a\nb\n', new ConnectionError('must not be read', { requestSent: true })];
    const { client, transport } = scripted(() => ({ chunks }));
    const query = { container: 'web', follow: true, tailLines: 2, sinceSeconds: undefined };
    for await (const bytes of client.stream(Pod, key, { subresource: 'log', query })) {
      expect(Buffer.from(bytes).toString()).to.equal('a\nb\n');
      break;
    }
    expect(transport.calls).to.deep.equal([`GET ${path}?container=web&follow=true&tailLines=2`]);
    expect(transport.requests[0]).to.have.property('streaming', true);
    expect(transport.open).to.equal(0);
  });

  it('throws the error of a server that refuses it, and an error when the connection breaks', async () => {
    expect(await failureOf(textOf(refusal(400, 'BadRequest')))).to.have.property('status', 400);
    const chunks = ['a\n', new ConnectionError('reset', { requestSent: true })];
    const error = await failureOf(textOf({ chunks }));
    expect(error).to.have.property('code', 'ConnectionFailed');
    expect(error.message).to.contain('get Pod/log shop/web-0');
  });
});
