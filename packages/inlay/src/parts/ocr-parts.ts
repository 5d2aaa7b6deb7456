import { join } from 'node:path'
import type { ModelProvider } from '@inlay/agent'
import type { ImageReader } from '@inlay/knowledge'
import { defaultDataFolder } from '../data-folder.ts'
import type { InlayOptions } from '../options/inlay-options.ts'
import { imageTextReader } from './document-models.ts'

/** @param models asked for only if a language model reads scans */
export async function configuredOcr(
  { ocr, dataFolder = defaultDataFolder, modelFolder = join(dataFolder, 'models') }: InlayOptions,
  models: () => Promise<ModelProvider>,
): Promise<ImageReader | undefined> {
  if (typeof ocr !== 'string') return ocr
  if (ocr === 'model') return imageTextReader(await models())
  const { tesseractReader } = await import('@inlay/drivers/ocr')
  const [, languages = 'eng'] = ocr.split('/')
  return tesseractReader({ languages, folder: join(modelFolder, 'tesseract') })
}
