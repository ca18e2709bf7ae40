import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

/** Where Debian's package installs it. */
const debianPath = '/usr/bin/chromium';

/**
 * Starts a headless Chromium: that of `CHROMIUM_PATH`, or Debian's.
 * @throws there is none. Specs must not pass for want of a browser.
 */
export async function startChromium(): Promise<Browser> {
  const { CHROMIUM_PATH: executablePath = debianPath } = process.env;
  if (!existsSync(executablePath)) {
    const remedy = "install Debian's package chromium, or set CHROMIUM_PATH";
    throw new Error(`there is no Chromium at ${executablePath}: ${remedy}`);
  }
  // Chromium refuses to run its sandbox as root, as which it runs in containers.
  const isRoot = process.getuid?.() === 0;
  const args = ['--disable-dev-shm-usage', ...(isRoot ? ['--no-sandbox'] : [])];
  return chromium.launch({ executablePath, args, headless: true });
}
