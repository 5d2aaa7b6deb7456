/* Plain JavaScript with built-in modules, since bootstrap.mjs imports it before anything is installed. */
import { spawn } from 'node:child_process'

/** Runs npm in a folder, without terminal input; returns its output. */
export function runNpm(args, { cwd, label }) {
  const execPath = process.env.npm_execpath || ''
  const isNpm = /npm[^/\\]*\.[cm]?js$/.test(execPath) && !/pnpm/.test(execPath)
  const [command, first] = isNpm ? [process.env.npm_node_execpath || process.execPath, [execPath]] : ['npm', []]
  const child = spawn(command, first.concat(args), {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: !isNpm && process.platform === 'win32',
  })
  let output = ''
  const keep = (chunk) => (output = (output + chunk).slice(-100000))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const stopProgress = showProgress(label)
  const stop = (signal) => {
    child.kill(signal)
    stopProgress()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return new Promise((settle) => {
    const end = (code) => {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
      stopProgress()
      settle({ code, output })
    }
    child.on('error', (error) => end((keep(String(error)), -1)))
    child.on('close', end)
  })
}

function showProgress(label) {
  if (!process.stdout.isTTY) {
    console.log(label + ' …')
    return () => {}
  }
  const began = Date.now()
  const draw = () => process.stdout.write('\r\x1b[2K' + label + ' … ' + Math.round((Date.now() - began) / 1000) + ' s')
  draw()
  const timer = setInterval(draw, 1000)
  return () => {
    clearInterval(timer)
    process.stdout.write('\r\x1b[2K')
  }
}

/** Explains a failure of npm in a sentence that says what to do; undefined if it is unknown. */
export function explain(output, folder) {
  if (/ENOSPC|no space left/i.test(output))
    return 'The disk is full. The packages take about 700 MB: free some space and run it again.'
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET|network/i.test(output))
    return 'The package registry could not be reached. Check the network or npm\'s "registry" and "proxy" settings, and run it again.'
  if (/EACCES|EPERM|EROFS/.test(output)) return 'npm cannot write here. Check the owner of this folder: ' + folder
  if (/EINTEGRITY/.test(output))
    return 'A package does not match its checksum. Try "npm cache clean --force", then run it again.'
  return undefined
}
