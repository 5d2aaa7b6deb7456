import { defineConfig, type UserConfig } from 'vite'

const config: UserConfig = defineConfig({
  build: { target: 'es2023', rolldownOptions: { input: ['ai-sdk/index.html', 'assistant-ui/index.html'] } },
})

export default config
