import { expect } from 'chai';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../../lib/testing/index.js';
import { withFolder } from '../client/temporary-folder.js';
import { SpecProcess } from '../manager/processes/spec-process.js';

describe('The program of an operator', () => {
  it('ends with exit code 1 although a reconcile that ignores its signal keeps a timer', async () => {
    const lines: string[] = [];
    const program = new SpecProcess('deaf', new URL('./deaf-program.ts', import.meta.url), {
      onLine: (line) => void lines.push(line),
    });
    try {
      await eventually(() => expect(lines, program.output).to.include('reconciles'));
      program.signal('SIGTERM');
      await eventually(() => expect(program.hasEnded, program.output).to.equal(true));
      expect(program.exitCode).to.equal(1);
      expect(program.output).to.include(
        'reconciles have not ended in time: configmap (default/held',
      );
    } finally {
      if (!program.hasEnded) await program.kill();
    }
  });

  it('ends with exit code 0 at a SIGTERM while it reviews its access', async () => {
    const paths: string[] = [];
    const silent = createServer(({ url = '' }) => void paths.push(url)).listen(0, '127.0.0.1');
    await withFolder({}, async (folder) => {
      const { port } = silent.address() as AddressInfo;
      await mkdir(join(folder, '.kube'));
      await writeFile(join(folder, '.kube/config'), kubeConfigOf(`http://127.0.0.1:${port}`));
      const program = new SpecProcess('early', new URL('./reviewing-program.ts', import.meta.url), {
        env: {
          ...{ HOME: folder, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '127.0.0.1' },
          POD_NAMESPACE: 'default',
        },
      });
      try {
        // The first request of the reviews: it looks up their kind.
        await eventually(() => expect(paths, program.output).to.deep.equal(['/apis']));
        program.signal('SIGTERM');
        await eventually(() => expect(program.hasEnded, program.output).to.equal(true));
        expect(program.exitCode, program.output).to.equal(0);
        expect(program.output).to.include('SIGTERM: stops');
      } finally {
        if (!program.hasEnded) await program.kill();
        silent.closeAllConnections();
        silent.close();
      }
    });
  });
});

function kubeConfigOf(server: string): string {
  return JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'it' },
    clusters: [{ name: 'it', cluster: { server } }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
    users: [{ name: 'it', user: {} }],
  });
}
