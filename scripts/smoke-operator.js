// Bundles a scaffolded operator with the built package, like `npm run build` of a project. Runs it on the embedded
// server with the flags of its image. Checks the sizes of bundle and process, on which the resource requests of the
// Deployment and the time to pull the image depend.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Deployment } from 'operator-builder';
import { EmbeddedCluster } from 'operator-builder/apiserver';
import { eventually } from 'operator-builder/testing';
import { parse } from 'yaml';

const megabyte = 1_000_000;
const sizeLimit = 4 * megabyte;
const memoryLimit = 100 * megabyte;
const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'smoke-operator-'));

function cli(...args) {
  execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), ...args, '-C', folder]);
}

/** Installs the package with its dependencies, except the optional ones, which operators must not need. */
function installPackages() {
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'operator-builder');
  mkdirSync(own, { recursive: true });
  const { dependencies, files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of ['package.json', ...files]) {
    cpSync(join(root, name), join(own, name), { recursive: true });
  }
  for (const name of [...Object.keys(dependencies), 'esbuild', '@opentelemetry/api']) {
    const place = join(modules, name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }
}

/** Checks that lazily loaded modules are in the bundle, and the size of what the Dockerfile copies. */
function checkBundle() {
  const bundle = readFileSync(join(folder, 'dist/main.js'), 'utf8');
  assert.doesNotMatch(bundle, /require\(["']re2js["']\)/);
  const dockerfile = readFileSync(join(folder, 'Dockerfile'), 'utf8');
  const copied = [...dockerfile.matchAll(/^COPY --from=build \/operator\/(\S+)/gm)];
  const files = copied.map(([, file]) => file);
  assert.deepEqual(files, ['package.json', 'dist/main.js']);
  const sizes = files.map((file) => statSync(join(folder, file)).size);
  const size = sizes.reduce((sum, each) => sum + each);
  console.log(`an image adds ${files.join(' and ')}: ${(size / megabyte).toFixed(2)} MB`);
  assert.ok(size < sizeLimit, `want less than ${sizeLimit} bytes in an image, got ${size}`);
}

/** Returns the resident memory of a process in bytes; undefined if the system does not report it. */
function memoryOf(pid) {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

/** Reads the project's CustomResourceDefinition and sample object. */
function manifests() {
  const read = (path) => parse(readFileSync(join(folder, path), 'utf8'));
  const [crd] = readdirSync(join(folder, 'config/crd/bases'));
  return {
    crd: read(`config/crd/bases/${crd}`),
    sample: read('config/samples/shop_v1alpha1_shop.yaml'),
  };
}

function start(kubeconfig) {
  const flags = ['--kubeconfig', kubeconfig, '--namespace', 'default', '--leader-elect'];
  const serving = ['--metrics-auth', '--metrics-port=0', '--health-port=0'];
  const args = ['dist/main.js', ...flags, ...serving];
  const stdio = ['ignore', 'inherit', 'inherit'];
  return spawn(process.execPath, args, { cwd: folder, stdio });
}

/** Runs the operator until it has reconciled the sample, then checks its memory. */
async function checkMemory() {
  const { crd, sample } = manifests();
  const cluster = await EmbeddedCluster.start({ crds: [crd], port: 0, tls: true });
  const kubeconfig = join(folder, 'kubeconfig');
  await cluster.writeKubeConfig(kubeconfig);
  const operator = start(kubeconfig);
  const ended = new Promise((end) => operator.on('close', end));
  try {
    const client = cluster.client();
    await client.create(sample);
    const made = async () => assert.equal((await client.list(Deployment)).items.length, 1);
    await eventually(made, { timeoutMs: 60_000 });
    // Waits for the garbage collection after the start.
    await eventually(
      () => {
        const memory = memoryOf(operator.pid) ?? 0;
        assert.ok(memory < memoryLimit, `want less than ${memoryLimit} bytes, got ${memory}`);
        console.log(`resident memory: ${(memory / megabyte).toFixed(0)} MB`);
      },
      { timeoutMs: 60_000 },
    );
  } finally {
    operator.kill('SIGTERM');
    assert.equal(await ended, 0);
    await cluster.stop();
  }
}

try {
  cli('init', '--domain', 'example.com', '--name', 'shops');
  cli('create', 'api', '--group', 'shop', '--version', 'v1alpha1', '--kind', 'Shop');
  installPackages();
  execFileSync(process.execPath, ['build.js'], { cwd: folder, stdio: 'inherit' });
  checkBundle();
  await checkMemory();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log('a scaffolded operator is small on disk and in memory');
