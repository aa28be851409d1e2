%%capture out
print('hidden')
