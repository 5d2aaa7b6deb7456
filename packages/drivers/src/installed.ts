import { InlayError } from '@inlay/protocol'

/** Loads a package that the host installs. @throws UNSUPPORTED that names the command when it is not there */
export async function installed<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    const { code, message = '' } = Object(cause) as { code?: string; message?: string }
    // An installed package may lack one of its own dependencies.
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw cause
    throw new InlayError('UNSUPPORTED', {
      message: `The package ${name} is not installed: run \`npm install ${name}\`.`,
      cause,
    })
  }
}

/** Passes a failed import on. With a `catch` of its own, esbuild leaves an import alone that it cannot resolve. */
export function toMissing(error: unknown): never {
  throw error
}
