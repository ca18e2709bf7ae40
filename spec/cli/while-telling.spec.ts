import { expect } from 'chai';
import { whileTelling } from '../../lib/cli/while-telling.js';

describe('What lasts', () => {
  /** What is written while something is done that fails. */
  async function told(columns: number | undefined): Promise<string> {
    let text = '';
    const stderr = { columns, write: (more: string) => (text += more) };
    const failed = whileTelling('thinking', { stderr }, () => Promise.reject(new Error('no')));
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'no');
    return text;
  }

  it('is shown on a terminal, in one line that is taken back', async () => {
    expect(await told(80)).to.equal('… thinking\r\u001b[2K');
    expect(await told(6)).to.equal('… thi\r\u001b[2K');
  });

  it('is not told elsewhere', async () => {
    expect(await told(undefined)).to.equal('');
  });
});
