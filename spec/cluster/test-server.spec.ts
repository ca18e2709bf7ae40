import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const program = ['node', '--import', import.meta.resolve('tsx'), `${root}lib/cli/main.ts`];

describe('the test server for other languages', function () {
  // The first run compiles client-go.
  this.timeout(900_000);

  it('passes the tests of the Python sample', async () => {
    const { code, output } = await run('apiserver-python', ['python3', '-m', 'unittest']);
    expect(output).to.match(/Ran 4 tests in .*OK/s);
    expect(code).to.equal(0);
  });

  it('passes the tests of the Go sample, by client-go', async () => {
    const { code, output } = await run('apiserver-go', ['go', 'test', '-count=1', '-v', './...']);
    expect(output).to.match(/PASS: TestServer/);
    expect(code).to.equal(0);
  });
});

async function run(
  sample: string,
  [command = '', ...args]: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(command, args, {
    cwd: `${root}samples/${sample}`,
    env: {
      ...process.env,
      ...{ CGO_ENABLED: '0', GOWORK: 'off', PYTHONDONTWRITEBYTECODE: '1' },
      OPERATOR_BUILDER: program.join(' '),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, output: out + err };
}
