import { copyFile } from 'node:fs/promises';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { findControlPlane } from './binaries.js';
import { startControlPlane } from './start.js';

const usage = `Starts a control plane for a developer, and runs it until SIGINT or SIGTERM.

npx tsx spec/cluster/control-plane/main.ts [--build] [--kubeconfig FILE] [--unthrottled]

--build            only build its programs
--kubeconfig FILE  write the kubeconfig to FILE
--unthrottled      disable the request limits of the API server`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', default: false },
      build: { type: 'boolean', default: false },
      kubeconfig: { type: 'string' },
      unthrottled: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  if (values.build) {
    await findControlPlane(console.log);
    return;
  }
  const asked = Promise.race(['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name)));
  const controlPlane = await startControlPlane({ unthrottled: values.unthrottled });
  const { url, kubeConfigPath, processes } = controlPlane;
  if (values.kubeconfig !== undefined) await copyFile(kubeConfigPath, values.kubeconfig);
  for (const [program, pid] of processes.pids) console.log(`process ${program} ${pid}`);
  console.log(`process supervisor ${processes.supervisorPid ?? ''}`);
  console.log(`control plane at ${url}`);
  console.log(`export KUBECONFIG=${values.kubeconfig ?? kubeConfigPath}`);
  // A signal listener alone does not keep a process alive.
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  await asked;
  clearInterval(keepAlive);
  await controlPlane.stop();
}

await main();
