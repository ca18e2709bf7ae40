import { expect } from 'chai';
import { whileReporting } from '../../lib/cli/command-context.js';

describe('whileReporting, which shows progress during a task', () => {
  /** Returns the output during a task that fails. */
  async function told(columns: number | undefined): Promise<string> {
    let text = '';
    const stderr = { columns, write: (more: string) => (text += more) };
    const failed = whileReporting('thinking', { stderr }, () => Promise.reject(new Error('no')));
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'no');
    return text;
  }

  it('writes one line to a terminal, and erases the line afterwards', async () => {
    expect(await told(80)).to.equal('… thinking\r\u001b[2K');
    expect(await told(6)).to.equal('… thi\r\u001b[2K');
  });

  it('writes nothing without a terminal', async () => {
    expect(await told(undefined)).to.equal('');
  });
});
