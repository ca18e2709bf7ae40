import { expect } from 'chai';
import { whileReporting } from '../../lib/cli/command-context.js';

describe('whileReporting', () => {
  /** Returns the output during a task that fails. */
  async function told(columns: number | undefined): Promise<string> {
    let text = '';
    const stderr = { columns, write: (more: string) => (text += more) };
    const failed = whileReporting('thinking', { stderr }, () => Promise.reject(new Error('no')));
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'no');
    return text;
  }

  it('shows progress on a terminal, in one line that is erased afterwards', async () => {
    expect(await told(80)).to.equal('… thinking\r\u001b[2K');
    expect(await told(6)).to.equal('… thi\r\u001b[2K');
  });

  it('shows nothing without a terminal', async () => {
    expect(await told(undefined)).to.equal('');
  });
});
